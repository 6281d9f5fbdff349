plugins {
    id("com.android.application")
    id("org.jetbrains.kotlin.android")
    id("com.google.gms.google-services")
}

android {
    namespace = "com.example.shop"
    compileSdk = 36
    defaultConfig {
        // The package of the app in your Firebase project.
        applicationId = "com.example.shop"
        minSdk = 23
        targetSdk = 36
        versionCode = 1
        versionName = "1.0"
        buildConfigField("String", "CARILLON_APP_KEY", "\"${property("carillon.appKey")}\"")
        buildConfigField("String", "CARILLON_URL", "\"${property("carillon.url")}\"")
    }
    buildFeatures {
        buildConfig = true
    }
    compileOptions {
        sourceCompatibility = JavaVersion.VERSION_1_8
        targetCompatibility = JavaVersion.VERSION_1_8
    }
}

kotlin {
    compilerOptions {
        jvmTarget.set(org.jetbrains.kotlin.gradle.dsl.JvmTarget.JVM_1_8)
    }
}

dependencies {
    implementation("dev.carillon:carillon-android:0.1.0")
}
