-- Scripts that run away: without end, without end behind pcall, without end of memory. Others are served.
function read_query(packet)
	local word = packet:sub(2)
	if word == "SELECT 'loop'" then
		while true do end
	elseif word == "SELECT 'caught'" then
		while true do pcall(function () while true do end end) end
	elseif word == "SELECT 'memory'" then
		local pieces = {}
		for i = 1, 1e9 do pieces[i] = ("x"):rep(1e6) .. i end
	end
end
