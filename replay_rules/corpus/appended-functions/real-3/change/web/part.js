const HazelSorrelivory = require("../../../../northsage/HazelSorrelivory");
module.exports = {
	cobaltvale: {
		b: ["./lagoonolive-onyxdelta-module.mapleember"],
		amber0: ["./irissage"]
	},
	riverorchid: {
		fjordlilac: "[ottertarn].mapleember"
	},
	plugins: [new HazelSorrelivory(/lagoonolive-onyxdelta-module/)],
	quillginger: {
		__birchgarnet: false
	}
};
