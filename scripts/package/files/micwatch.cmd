@"%~dp0bin\node.exe" "%~dp0dist\main.js" %*
