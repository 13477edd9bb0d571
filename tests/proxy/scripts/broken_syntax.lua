-- A script that is no Lua: the proxy runs, each client is told.
function read_query(packet)
	if then
end
