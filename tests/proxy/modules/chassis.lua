-- The log: levels, texts, whose line stands in it; print() after the module was required.
print("before", 1)
local chassis = require("chassis")
local levels = {"critical", "warning", "message", "info", "debug"}
for _, level in ipairs(levels) do
	local write = chassis[level]
	write("text of " .. level)
	chassis.log(level, "logged at " .. level)
	write(5)
	write(nil)
	write("first of " .. level, "second")
	write("a%s%d of " .. level .. "\0not this")
end
chassis.log(nil, "no level")
local function inner() chassis.warning("inside") end
inner()
loadstring("require('chassis').critical('of a string')")()
loadstring("require('chassis').critical('of a file')", "@/cases/other.lua")()
loadstring("require('chassis').critical('of a name')", "=(name)")()
print("after", "second")
print(nil)
print(12)
local lines = {}
local function keep(name, f, ...)
	local ok, text = pcall(f, ...)
	lines[#lines + 1] = name .. " " .. tostring(ok) .. " " .. tostring(text)
end
keep("table", chassis.critical, {})
keep("boolean", chassis.debug, true)
keep("print", print, {})
keep("level", chassis.log, "CRITICAL", "x")
keep("level", chassis.log, "", "x")
keep("level", chassis.log, 5, "x")
keep("level", chassis.log, {}, "x")
keep("text", chassis.log, "critical", {})
keep("in script", function() chassis.critical({}) end)
keep("in script", function() print({}) end)
keep("stats", function() return type(chassis.get_stats().chassis.lua_mem_bytes) end)
keep("global", function() return rawget(_G, "chassis") == chassis and package.loaded.chassis == chassis end)
for _, line in ipairs(lines) do chassis.critical(line) end
