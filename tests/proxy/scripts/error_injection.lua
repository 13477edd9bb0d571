-- Error injection: every second INSERT fails as if a lock had not come in time; a retry goes through.
local inserts = 0

function read_query(packet)
	if packet:byte() ~= proxy.COM_QUERY or not packet:find("^.INSERT") then return end
	inserts = inserts + 1
	if inserts % 2 == 0 then
		proxy.response.type = proxy.MYSQLD_PACKET_ERR
		proxy.response.errcode = 1205
		proxy.response.sqlstate = "HY000"
		proxy.response.errmsg = "Lock wait timeout exceeded; try restarting transaction"
		return proxy.PROXY_SEND_RESULT
	end
end
