-- The statements of the admin plugin, with tables in place of the proxy's objects.
local done = require("admin")
show("results", function() return done, type(rawget(_G, "read_query")), type(rawget(_G, "set_error")) end)
local function ask(packet)
	_G.proxy.response = nil
	show(quote(packet), _G.read_query, packet)
	show(" type", function() return _G.proxy.response.type, _G.proxy.response.errmsg end)
	local resultset = _G.proxy.response.resultset
	if resultset then
		show(" fields", function() return resultset.fields end)
		if packet:lower():find("backends") then show(" rows", function() return resultset.rows end) end
	end
end
local address = {name = "127.0.0.1:3306"}
_G.proxy.global = {config = {}, backends = {
	{dst = address, state = 0, type = 1, connected_clients = 0},
	{dst = address, state = 1, type = 1, connected_clients = 3, uuid = "u"},
	{dst = address, state = 2, type = 2, connected_clients = 1},
	{dst = address, state = 1, type = 0, connected_clients = 1},
}}
for _, text in ipairs{
	"select * from backends", "SELECT * FROM BACKENDS", "Select * From help", "select * from backends;", "select  * from help",
	"select 1", "", "show tables",
} do ask("\3" .. text) end
ask("\14")
ask("\2db")
