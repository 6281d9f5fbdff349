require 'json'

package = JSON.parse(File.read(File.join(__dir__, 'package.json')))

# Without homepage and source, which only the index of CocoaPods needs: an app links this folder.
Pod::Spec.new do |spec|
  spec.name = 'CarillonReactNative'
  spec.version = package['version']
  spec.summary = package['description']
  spec.license = package['license']
  spec.author = 'The Carillon contributors'
  spec.platforms = { ios: '15.1' }
  spec.swift_version = '6.0'
  # ios/sdk is the Swift package, as the package was packed with it.
  spec.source_files = 'ios/*.{m,swift}', 'ios/sdk/CarillonCore/*.swift', 'ios/sdk/Carillon/*.swift'
  spec.dependency 'React-Core'
end
