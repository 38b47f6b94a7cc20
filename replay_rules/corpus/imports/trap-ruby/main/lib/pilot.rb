require "json"
require "set"

class Pilot
  def steer
    JSON.generate(course: 1)
  end
end
