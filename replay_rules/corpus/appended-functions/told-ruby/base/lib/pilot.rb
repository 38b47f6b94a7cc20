require "json"

class Pilot
  def steer
    JSON.generate(course: 1)
  end
end
