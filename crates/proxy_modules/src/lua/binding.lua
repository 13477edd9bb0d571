-- Wraps a function that returns the count of its results and the results, or -1 and a text. The text is raised here, because
-- what a function in Rust raises reaches pcall() as an object, and scripts expect a string with their own position in it.
local raise = error
return function(inner)
	return function(...)
		local count, first, second, third = inner(...)
		if count == 1 then return first end
		if count == 0 then return end
		if count == 2 then return first, second end
		if count == 3 then return first, second, third end
		raise(first, 2)
	end
end
