; scripts/package/setup.ts defines VERSION, NUMBERS, FILES, TASK, CONFIGURATION, OUTPUT and COMPRESSOR.
Unicode true
SetCompressor ${COMPRESSOR}
SetDateSave off
Name "Micwatch"
OutFile "${OUTPUT}"
; The task names this folder.
InstallDir "$PROGRAMFILES64\Micwatch"
RequestExecutionLevel admin
VIProductVersion "${NUMBERS}"
VIAddVersionKey "ProductName" "Micwatch"
VIAddVersionKey "ProductVersion" "${VERSION}"
VIAddVersionKey "FileVersion" "${VERSION}"
VIAddVersionKey "FileDescription" "Micwatch Setup"
VIAddVersionKey "LegalCopyright" "MIT"

!include LogicLib.nsh
!include x64.nsh
!define KEY "Software\Microsoft\Windows\CurrentVersion\Uninstall\Micwatch"

Page instfiles
UninstPage uninstConfirm
UninstPage instfiles

; Ends the service and removes what belongs to the program, but not the data.
!macro RemoveProgram
  nsExec::Exec 'schtasks /End /TN Micwatch'
  ; Windows needs a moment to release the files of a process that has ended.
  Sleep 2000
  nsExec::Exec 'netsh advfirewall firewall delete rule name=Micwatch'
  RMDir /r "$INSTDIR"
!macroend

Section
  SetShellVarContext all
  ${DisableX64FSRedirection}
  SetRegView 64
  !insertmacro RemoveProgram
  !include "${FILES}"
  SetOutPath "$INSTDIR"
  File "/oname=task.xml" "${TASK}"

  ; Others on this machine must not read the database and the secrets.
  CreateDirectory "$APPDATA\Micwatch"
  nsExec::Exec 'icacls "$APPDATA\Micwatch" /inheritance:r /grant *S-1-5-18:(OI)(CI)F *S-1-5-32-544:(OI)(CI)F *S-1-5-19:(OI)(CI)M'
  SetOutPath "$APPDATA\Micwatch"
  SetOverwrite off
  File "/oname=micwatch.yaml" "${CONFIGURATION}"
  SetOverwrite on
  SetOutPath "$INSTDIR"

  nsExec::ExecToLog 'netsh advfirewall firewall add rule name=Micwatch dir=in action=allow profile=private,domain "program=$INSTDIR\bin\node.exe"'
  nsExec::ExecToLog 'schtasks /Create /F /TN Micwatch /XML "$INSTDIR\task.xml"'
  Pop $0
  ${If} $0 != 0
    SetErrorLevel 1
    Abort "The task Micwatch could not be created: the Task Scheduler refused it ($0)."
  ${EndIf}
  nsExec::ExecToLog 'schtasks /Run /TN Micwatch'

  WriteINIStr "$SMPROGRAMS\Micwatch.url" "InternetShortcut" "URL" "http://127.0.0.1:8080/"
  WriteUninstaller "$INSTDIR\uninstall.exe"
  WriteRegStr HKLM "${KEY}" "DisplayName" "Micwatch"
  WriteRegStr HKLM "${KEY}" "DisplayVersion" "${VERSION}"
  WriteRegStr HKLM "${KEY}" "UninstallString" '"$INSTDIR\uninstall.exe"'
  WriteRegDWORD HKLM "${KEY}" "NoModify" 1
  WriteRegDWORD HKLM "${KEY}" "NoRepair" 1
SectionEnd

Section "Uninstall"
  SetShellVarContext all
  ${DisableX64FSRedirection}
  SetRegView 64
  nsExec::Exec 'schtasks /End /TN Micwatch'
  nsExec::Exec 'schtasks /Delete /F /TN Micwatch'
  !insertmacro RemoveProgram
  Delete "$SMPROGRAMS\Micwatch.url"
  DeleteRegKey HKLM "${KEY}"
SectionEnd
