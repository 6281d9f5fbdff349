// swift-tools-version: 6.0
import PackageDescription

let package = Package(
    name: "CarillonCapacitor",
    platforms: [.iOS(.v15)],
    products: [.library(name: "CarillonCapacitor", targets: ["CarillonCapacitor"])],
    dependencies: [.package(url: "https://github.com/ionic-team/capacitor-swift-pm.git", "7.0.0"..<"9.0.0")],
    targets: [
        // The Swift package is in ios/sdk, as this package was packed with it.
        .target(
            name: "CarillonCapacitor",
            dependencies: [
                .product(name: "Capacitor", package: "capacitor-swift-pm"),
                .product(name: "Cordova", package: "capacitor-swift-pm"),
            ],
            path: "ios",
            exclude: ["sdk/CarillonNotificationService"]
        )
    ]
)
