-- What the embedding changes of Lua's own functions. `settle` makes a message of an error value of the host,
-- and raises again the error of a script that was stopped, so that it cannot catch its own end.
local settle = ...
local pcall_unsettled, xpcall_unsettled, resume_unsettled = pcall, xpcall, coroutine.resume

local function settled(is_ok, ...)
	if is_ok then return true, ... end
	return false, settle((...))
end

function pcall(f, ...)
	return settled(pcall_unsettled(f, ...))
end

function xpcall(f, handler)
	return settled(xpcall_unsettled(f, function (message) return handler(settle(message)) end))
end

function coroutine.resume(...)
	return settled(resume_unsettled(...))
end

-- What scripts write to the standard output is there with the end of the line.
io.stdout:setvbuf("line")
