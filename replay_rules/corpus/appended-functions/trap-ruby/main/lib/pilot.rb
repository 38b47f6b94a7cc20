require "json"

class Pilot
  def steer
    JSON.generate(course: 1)
  end

  private

  def knots
    4
  end
end
