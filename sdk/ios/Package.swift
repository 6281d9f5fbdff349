// swift-tools-version: 6.0
import PackageDescription

let package = Package(
    name: "Carillon",
    platforms: [.iOS(.v14), .macCatalyst(.v14), .macOS(.v11)],
    products: [
        .library(name: "Carillon", targets: ["Carillon"]),
        .library(name: "CarillonNotificationService", targets: ["CarillonNotificationService"]),
    ],
    targets: [
        // Foundation only: the installation, the queue, the names of keys.
        .target(name: "CarillonCore"),
        // For the app.
        .target(name: "Carillon", dependencies: ["CarillonCore"]),
        // For its notification service extension, which must not link the app's part.
        .target(name: "CarillonNotificationService", dependencies: ["CarillonCore"]),
        // Plays sdk/conformance.json; the tests of the repository start it.
        .executableTarget(name: "PlaySteps", dependencies: ["CarillonCore"], path: "Tests/PlaySteps"),
    ]
)
