-- Every command as a table and as a line.
local commands = require("proxy.commands")
for number = 0, 29 do
	local packet = string.char(number) .. "\1\2\3\4\5\6\7\8\9\10\11"
	show(number, commands.parse, packet)
	if number ~= 23 and number ~= 25 then show(number, commands.parse, string.char(number)) end
	show(number, function() return commands.pretty_print(commands.parse(packet)) end)
end
show("query", commands.parse, "\3select 'a\nb'")
show("query", commands.pretty_print, commands.parse("\3select 'a\nb'"))
show("field list", commands.parse, "\4t\0wild")
show("by hand", commands.pretty_print, {type = 3, type_name = "COM_QUERY", query = "x"})
show("by hand", commands.pretty_print, {type_name = "X"})
show("field of proxy", function() return proxy.commands == commands, package.loaded["proxy.commands"] == commands end)
show("fields", function() return commands._NAME, commands._PACKAGE, commands._M == commands end)
