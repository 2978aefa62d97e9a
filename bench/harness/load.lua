-- What wrk sends and the summary that it prints at the end. Arguments: the file with one raw request, how numbers are chosen
-- ("fixed", "counted" or "random"), the first number, how many there are (random), and how many requests to stop after (0: by time).
-- Each mark {number} in the request is replaced by the same eight digits, so that its length never changes.
local parts, first, amount, stop_after
local count = 0

local function split(text, mark)
  local found, at = {}, 1
  while true do
    local from, to = text:find(mark, at, true)
    if from == nil then
      table.insert(found, text:sub(at))
      return found
    end
    table.insert(found, text:sub(at, from - 1))
    at = to + 1
  end
end

function init(args)
  local file = assert(io.open(args[1], "rb"))
  local text = file:read("*a")
  file:close()
  local kind = args[2]
  first, amount, stop_after = tonumber(args[3]), tonumber(args[4]), tonumber(args[5])
  if kind == "fixed" then
    request = function() return text end
  else
    parts = split(text, "{number}")
    if kind == "counted" then
      request = function()
        local number = first + count
        count = count + 1
        return table.concat(parts, string.format("%08d", number))
      end
    else
      math.randomseed(first + amount)
      request = function() return table.concat(parts, string.format("%08d", first + math.random(0, amount - 1))) end
    end
  end
  if stop_after > 0 then
    local received, refused, started = 0, 0, os.time()
    response = function(status)
      received = received + 1
      if status >= 400 then refused = refused + 1 end
      if received >= stop_after then
        -- wrk itself would sleep on until its time is over. Its percentiles are not at hand here, and seconds are exact enough.
        print_summary(received, math.max(os.time() - started, 1) * 1000000, 0, 0, refused, 0)
        os.exit(0)
      end
    end
  end
end

function print_summary(...)
  io.stderr:write(string.format('{"requests":%d,"duration_us":%d,"p50_us":%d,"p99_us":%d,"refused":%d,"broken":%d}\n', ...))
  io.stderr:flush()
end

function done(summary, latency)
  local errors = summary.errors
  local broken = errors.connect + errors.read + errors.write + errors.timeout
  print_summary(summary.requests, summary.duration, latency:percentile(50), latency:percentile(99), errors.status, broken)
end
