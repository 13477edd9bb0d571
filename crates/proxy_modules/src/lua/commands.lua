-- Module proxy.commands: the packet of a command as a table, and such a table as a line of text.

module("proxy.commands", package.seeall)

-- Names of the commands by number, and what the bytes behind the number are: nothing that is told, a text under that name, or
-- the number of a statement. A command without an entry there is told on standard output.
local names = {
	[0] = "COM_SLEEP", "COM_QUIT", "COM_INIT_DB", "COM_QUERY", "COM_FIELD_LIST", "COM_CREATE_DB", "COM_DROP_DB",
	"COM_REFRESH", "COM_SHUTDOWN", "COM_STATISTICS", "COM_PROCESS_INFO", "COM_CONNECT", "COM_PROCESS_KILL", "COM_DEBUG",
	"COM_PING", "COM_TIME", "COM_DELAYED_INSERT", "COM_CHANGE_USER", "COM_BINLOG_DUMP", "COM_TABLE_DUMP",
	"COM_CONNECT_OUT", "COM_REGISTER_SLAVE", "COM_STMT_PREPARE", "COM_STMT_EXECUTE", "COM_STMT_SEND_LONG_DATA",
	"COM_STMT_CLOSE", "COM_STMT_RESET", "COM_SET_OPTION", "COM_STMT_FETCH", "COM_DAEMON",
	-- The original does not know the last two.
	"COM_BINLOG_DUMP_GTID", "COM_RESET_CONNECTION",
}
local without_text = { COM_QUIT = true, COM_SHUTDOWN = true, COM_PING = true, COM_BINLOG_DUMP = true }
local text_fields = {
	COM_INIT_DB = "schema", COM_CREATE_DB = "schema", COM_DROP_DB = "schema", COM_QUERY = "query",
	COM_STMT_PREPARE = "query", COM_FIELD_LIST = "table", COM_SET_OPTION = "option",
}
local with_statement = { COM_STMT_EXECUTE = true, COM_STMT_CLOSE = true }

function parse(packet)
	local number = packet:byte()
	if not number then error("the packet is empty", 2) end
	local name = names[number]
	local command = { type = number, type_name = name }
	if text_fields[name] then
		command[text_fields[name]] = packet:sub(2)
	elseif with_statement[name] then
		local first, second, third, fourth = packet:byte(2, 5)
		if not fourth then error("the packet of " .. name .. " is too short", 2) end
		command.stmt_handler_id = first + second * 2 ^ 8 + third * 2 ^ 16 + fourth * 2 ^ 24
	elseif not without_text[name] then
		print(("[debug] (command) unhandled type name:%s byte:%d"):format(tostring(name), number))
	end
	return command
end

local bare = { COM_QUIT = true, COM_PING = true, COM_SHUTDOWN = true, COM_FIELD_LIST = true }
local printed_fields = {
	COM_INIT_DB = "schema", COM_QUERY = "query", COM_STMT_PREPARE = "query", COM_STMT_EXECUTE = "stmt_handler_id",
}

function pretty_print(command)
	local name = command.type_name
	-- The original raises for a command without a name.
	if not name then return ("[%s] ... no idea"):format(tostring(command.type)) end
	if bare[name] then
		return "[" .. name .. "]"
	elseif printed_fields[name] then
		return ("[%s] %s"):format(name, tostring(command[printed_fields[name]]))
	end
	return ("[%s] ... no idea"):format(name)
end
