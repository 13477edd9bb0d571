-- Wraps a function that returns 0 and its results, or -1 and a text, or -2 and a value. The text is raised here with the caller's
-- position, the value as it is: what a function in Rust raises reaches pcall() as an object, and scripts expect a string.
local raise = error
-- A tail call leaves a level of its own on the stack: 1 is this function, 2 the one below, 3 who called that.
local function finish(status, ...)
	if status == 0 then return ... end
	raise((...), status == -1 and 3 or 0)
end
return function(inner)
	return function(...)
		return finish(inner(...))
	end
end
