-- proxy.response in all forms that mean something, and packets as they go out.
local OK, ERR = proxy.MYSQLD_PACKET_OK, proxy.MYSQLD_PACKET_ERR
local one = { { name = "n", type = proxy.MYSQL_TYPE_LONG } }
local wide, row = {}, {}
for i = 1, 300 do wide[i], row[i] = { name = "c" .. i, type = proxy.MYSQL_TYPE_LONG }, i end
local cases = {
	ok = { type = OK }, numbers = { type = OK, affected_rows = "5", insert_id = 2 ^ 40 }, minus = { type = OK, affected_rows = -1 },
	text_type = { type = "0" }, not_numbers = { type = OK, affected_rows = "x", insert_id = {} },
	ignored = { type = OK, warning_count = 5, server_status = 1, affected_rows = 250 }, big = { type = OK, affected_rows = 251, insert_id = 70000 },
	err = { type = ERR }, err_all = { type = ERR, errcode = 1064, sqlstate = "42000", errmsg = "all" },
	err_text = { type = ERR, errcode = "77", errmsg = 5 }, err_cut = { type = ERR, errcode = 70000, sqlstate = "HY000extra", errmsg = ("e"):rep(600) },
	err_state = { type = ERR, errcode = 5, sqlstate = "HY", errmsg = "short" }, err_no_text = { type = ERR, errcode = 6, sqlstate = "42000" },
	err_short = { type = ERR, sqlstate = "HY", errmsg = {} }, errno = { type = ERR, errno = 1205, errmsg = "no errcode" },
	rows = { type = OK, affected_rows = 9, resultset = { fields = one, rows = { { 1 }, { 2.5 }, { "three" } } } },
	no_rows = { type = OK, resultset = { fields = one, rows = {} } },
	nulls = { type = OK, resultset = { fields = { one[1], { name = "m" }, { name = 5, type = "253" } }, rows = { {}, { nil, true, {} }, { 1, 2, 3, 4 } } } },
	hole = { type = OK, resultset = { fields = one, rows = { { 1 }, nil, { 3 } } } },
	nameless = { type = OK, resultset = { fields = { {}, { type = proxy.MYSQL_TYPE_DATE } }, rows = { { 1, "2020-01-02" } } } },
	floats = { type = OK, resultset = { fields = one, rows = { { 2 ^ 53 }, { 1e20 }, { 0.1 }, { -0 } } } },
	zero_byte = { type = OK, resultset = { fields = one, rows = { { "a\0b" } } } },
	long = { type = OK, resultset = { fields = one, rows = { { ("x"):rep(70000) } } } },
	wide = { type = OK, resultset = { fields = wide, rows = { row } } },
	no_type = {}, text = { type = "words" }, boolean = { type = true }, unknown = { type = 254 }, other = { type = 251 },
	resultset_text = { type = OK, affected_rows = 4, resultset = "text" },
}

function read_query(packet)
	local word = packet:sub(2)
	if cases[word] then
		proxy.response = cases[word]
		return proxy.PROXY_SEND_RESULT
	elseif word == "nil" then
		proxy.response = nil
		return proxy.PROXY_SEND_RESULT
	elseif word == "table" then
		proxy.response = "text"
		return proxy.PROXY_SEND_RESULT
	elseif word == "untouched" then
		return proxy.PROXY_SEND_RESULT
	end
end
