# frozen_string_literal: true

Gem::Specification.new do |gem|
  gem.name = "carillon-client"
  gem.version = "0.1.0"
  gem.summary = "Calls every operation of a Carillon service"
  gem.authors = ["The Carillon authors"]
  gem.license = "Apache-2.0"
  gem.required_ruby_version = ">= 3.0"
  gem.files = Dir["lib/**/*.rb", "LICENSE"]
end
