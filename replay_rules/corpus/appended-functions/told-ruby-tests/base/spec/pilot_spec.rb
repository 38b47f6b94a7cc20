require "pilot"

describe "Pilot" do
  it "steers" do
    expect(Pilot.new.steer).to be
  end
end
