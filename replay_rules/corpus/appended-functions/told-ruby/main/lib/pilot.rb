require "json"

class Pilot
  def steer
    JSON.generate(course: 1)
  end

  def halt
    0
  end
end
