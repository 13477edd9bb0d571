-- The statements about the configuration, and the functions under them.
local config = require("proxy.auto-config")
rawset(_G.proxy, "response", nil)
local mine
local function handle(text)
	_G.proxy.response = {}
	mine = {m = {a = 1, b = true, s = "x"}}
	show(quote(text), config.handle, mine, {type = 3, query = text})
	show(" response", function() return _G.proxy.response end)
	show(" table", function() return mine end)
end
for _, text in ipairs{
	"select 1", "", "PROXY", "PROXY FOO", "PROXY SHOW", "PROXY SHOW CONFIG extra", "PROXY SET GLOBAL m.a", "SHOW CONFIG",
	"PROXY SET GLOBAL m.a = 7", "PROXY SET GLOBAL m.a=7", "PROXY SET GLOBAL m.a = -3", "proxy set global m.a = 7",
	"PROXY SET GLOBAL m.s = 5", "PROXY SET GLOBAL m.nope = 1", "PROXY SET GLOBAL nope.a = 1", "PROXY SET GLOBAL M.A = 1",
	"PROXY SET GLOBAL m.a = true", "PROXY SET GLOBAL m.b = 1", "PROXY SET GLOBAL m.a = \"12\"",
	"PROXY SET GLOBAL m.b = \"true\"", "PROXY  SET   GLOBAL\tm.a = 8", "PROXY SAVE CONFIG INTO name",
	"PROXY LOAD CONFIG FROM name", "PROXY SET GLOBAL m.a = 5 extra",
} do handle(text) end
_G.proxy.response = {}
show("show", config.handle, {m = {a = 1}}, {type = 3, query = "PROXY SHOW CONFIG"})
show(" response", function() return _G.proxy.response end)
_G.proxy.response = {}
show("show", config.handle, {m = {s = "x"}, n = {}}, {type = 3, query = "proxy  show\tconfig"})
show(" response", function() return _G.proxy.response end)
_G.proxy.response = {}
show("show", config.handle, {}, {type = 3, query = "proxy show config"})
show(" response", function() return _G.proxy.response end)
mine = {m = {t = {}}}
show("table", config.handle, mine, {type = 3, query = "PROXY SET GLOBAL m.t = 3"})
show(" response", function() return _G.proxy.response end)
show("other command", config.handle, {}, {type = 1})
show("other command", config.handle, {type = 0})
-- load() and save()
local path = os.tmpname()
local function load_text(text)
	local file = io.open(path, "w")
	file:write(text)
	file:close()
	mine = {m = {a = 1, b = true, s = "x"}}
	show("load " .. text, function()
		local done, why = config.load(mine, path)
		return done, why and why:gsub("^" .. path, "FILE")
	end)
	show(" table", function() return mine end)
end
for _, text in ipairs{
	"return {m={a=5,new=1},other={z=1}}", "return {m={a='str'}}", "syntax err", "return {m={b=1}}", "return {}",
	"return {m={a=7}} , 3", "return {m={s=3}}",
} do load_text(text) end
show("load nothing", config.load, mine, "/nonexistent")
show("save nowhere", config.save, mine, "/nonexistent/x")
show("save", config.save, mine, path)
os.remove(path)
_G.proxy.global = _G.proxy.global or {}
show("methods", function() return type(config.handle), type(config.load), type(config.save), proxy["auto-config"] == config end)
