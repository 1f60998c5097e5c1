@"%~dp0bin\node.exe" "%~dp0launch.js" %*
@if errorlevel 1 pause
