-- The client is let go after the answer.
local left = 2

function read_query(packet)
	left = left - 1
	print(left, tostring(proxy.connection.connection_close))
	if left == 0 then proxy.connection.connection_close = true end
end

function disconnect_client() print("gone") end
