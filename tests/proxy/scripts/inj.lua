-- Everything that inj and inj.resultset have, held and not.
local function try(name, f)
	local ok, value = pcall(f)
	print(name, ok, (tostring(value):gsub("0x%x+", "ADDRESS")))
end

function read_query(packet)
	if packet:byte() ~= proxy.COM_QUERY and packet:byte() ~= proxy.COM_STATISTICS and packet:byte() ~= proxy.COM_FIELD_LIST then return end
	proxy.queries:append(4, packet, { resultset_is_needed = packet:find("held", 1, true) ~= nil })
	return proxy.PROXY_SEND_QUERY
end

function read_query_result(inj)
	print("--", inj.id, inj.type, inj.query:sub(2), type(inj.query_time), inj.query_time <= inj.response_time, inj.other)
	local result = inj.resultset
	for _, name in ipairs({ "query_status", "affected_rows", "insert_id", "warning_count", "row_count", "bytes", "other" }) do
		print(name, result[name])
	end
	for _, name in ipairs({ "in_trans", "auto_commit", "no_good_index_used", "no_index_used", "other" }) do
		print("flags." .. name, result.flags[name])
	end
	try("raw", function () return #result.raw end)
	try("fields", function () return #result.fields end)
	try("rows", function () return type(result.rows) end)
	try("write", function () result.row_count = 5 end)
	try("write inj", function () inj.id = 5 end)
	if not inj.query:find("held", 1, true) or #result.fields == 0 then return end
	for i = 0, #result.fields + 1 do
		local field = result.fields[i]
		print(i, field and field.name, field and field.org_name, field and field.table, field and field.org_table, field and field.type, field and field.flags)
	end
	try("fields.x", function () return result.fields.x end)
	local next_row = result.rows
	local row
	repeat
		row = next_row()
		if row then print("row", tostring(row[1]), tostring(row[2]), type(row[1]), tostring(row[3])) end
	until not row
	print(next_row(), next_row(), type((result.rows())))
end
