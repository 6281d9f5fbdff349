// There is no native module for iOS yet.
module.exports = { dependency: { platforms: { ios: null } } };
