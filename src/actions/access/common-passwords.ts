/**
 * Passwords that attackers try first: 49,000 leaked passwords, words from live sound, and common phrases, in lower case.
 * New passwords are also checked without their digits and punctuation, so "password" also excludes "password2026!!".
 * Few processes ever set a password, so this module is imported on demand.
 */

import { dictionary } from '@zxcvbn-ts/language-common'

const localPasswords = `
  001122334455 111222333444 121212121212 123123123123 123454321234 147258369000 147258369147 741852963000 987654321098
  abc abcabc abcd abcdef abcdefg abcdefgh adminadmin admins admintest asdfghjklqwertyuiop audio audioadmin
  audiotechnica azertyuiop backstage blink callmenow changeit changemenow changethis chocolate concert default
  defaultpassword demo demodemo dragonball estrella ewdadmin ewdx god guest guestguest hellohello helloworld
  iloveyouforever iloveyousomuch iloveyoutoo letmeinnow letmeinplease login loginlogin masterkey microphone
  microphones micwatch micwatchadmin micwatchpassword mixer monitoring mypassword mypasswordis newpassword operator
  passpass passphrase passw passwordadmin passwordis passwords passwortpasswort qwer qwertyqwerty qwertz qwertzuiop
  radio receiver root rootroot secretpassword secretsecret secure sennheiser sennheiseradmin show shure shureadmin
  shurepassword slxd sound soundadmin soundcheck soundsystem stage superadmin supersecret superuser sysadmin
  systemadmin tech technician temp temporary testpassword theater theatre transmitter trustno trustnoone ulxd user
  username venue viewer welcomeadmin welcometo welcomewelcome wireless wirelessmic wirelessmicrophone zaqxsw zxcasdqwe
  zxczxc
`

export const commonPasswords: ReadonlySet<string> = new Set([
  ...dictionary['passwords-common'],
  ...localPasswords.trim().split(/\s+/),
])
