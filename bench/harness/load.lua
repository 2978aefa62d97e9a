-- What wrk sends and what it tells at the end. Arguments: the file with one raw request, how numbers are chosen
-- ("fixed", "counted" or "random"), the first number, how many there are (random), and how many calls to stop after (0: by time).
-- The mark {number} in the request is replaced by eight digits, so that its length never changes.
local head, tail, first, amount, stop_after
local count = 0

function init(args)
  local file = assert(io.open(args[1], "rb"))
  local text = file:read("*a")
  file:close()
  local kind = args[2]
  first, amount, stop_after = tonumber(args[3]), tonumber(args[4]), tonumber(args[5])
  if kind == "fixed" then
    request = function() return text end
  else
    local from, to = text:find("{number}", 1, true)
    head, tail = text:sub(1, from - 1), text:sub(to + 1)
    if kind == "counted" then
      request = function()
        local number = first + count
        count = count + 1
        return head .. string.format("%08d", number) .. tail
      end
    else
      math.randomseed(first + amount)
      request = function() return head .. string.format("%08d", first + math.random(0, amount - 1)) .. tail end
    end
  end
  if stop_after > 0 then
    local answered = 0
    response = function()
      answered = answered + 1
      if answered >= stop_after then wrk.thread:stop() end
    end
  end
end

function done(summary, latency)
  local errors = summary.errors
  io.stderr:write(string.format(
    '{"calls":%d,"duration_us":%d,"p50_us":%d,"p99_us":%d,"refused":%d,"broken":%d}\n',
    summary.requests, summary.duration, latency:percentile(50), latency:percentile(99), errors.status,
    errors.connect + errors.read + errors.write + errors.timeout))
end
