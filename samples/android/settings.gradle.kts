pluginManagement {
    repositories {
        google()
        mavenCentral()
        gradlePluginPortal()
    }
}

dependencyResolutionManagement {
    repositories {
        google()
        mavenCentral()
    }
}

rootProject.name = "carillon-sample"
include(":app")
// The SDK is not on Maven Central: it is built from this clone.
includeBuild("../../sdk/android")
