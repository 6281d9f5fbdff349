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
        // For the module huawei only.
        maven("https://developer.huawei.com/repo/")
    }
}

rootProject.name = "carillon-android"

// The names are those of the artifacts, so that an including build finds them.
for ((name, folder) in mapOf("core" to "core", "android" to "carillon", "android-huawei" to "huawei")) {
    include(":carillon-$name")
    project(":carillon-$name").projectDir = file(folder)
}
