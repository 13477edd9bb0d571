-- Numbers that mean nothing count as nil; a text that looks like a number counts as the number.
function connect_server() return 9 end

function read_handshake() return true end

function read_auth() return 3 end

function read_auth_result() return "x" end

function read_query(packet)
	local word = packet:match("^.SELECT '(.*)'$")
	if word == "text" or word == "fraction" then
		proxy.response = { type = proxy.MYSQLD_PACKET_OK, affected_rows = 3 }
		return word == "text" and "2" or 2.5
	end
	if word == "true" then return true end
	if word == "table" then return {} end
	if word == "held" then
		proxy.queries:append(1, packet, { resultset_is_needed = true })
		return "1"
	end
end

function read_query_result() return 0 end

function disconnect_client() return 4 end
