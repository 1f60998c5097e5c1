/**
 * What is tried first: the commonest words and sequences of the leaked lists, and the words of this trade. Digits and
 * signs around them add nothing, so "password2026!!" is stopped by "password". Lower case, in the order of the alphabet.
 */
export const commonPasswords: ReadonlySet<string> = new Set(
  `
  abc abcabc abcd abcdef abcdefg abcdefgh access admin adminadmin administrator admins admintest amanda america andrea
  andrew angel angela anthony anything apple arsenal asdasd asdf asdfasdf asdfgh asdfghjkl asdfghjklqwertyuiop ashley
  audio audioadmin audiotechnica austin azerty azertyuiop backstage badboy bailey banana barcelona baseball basketball
  batman beautiful blahblah blink bonnie buster butterfly callmenow changeit changeme
  changemenow changethis charlie cheese chelsea chicken chocolate church compaq computer concert cookie corvette
  cowboys dakota dallas daniel default defaultpassword demo demodemo diamond dolphin dragon dragonball eagles
  element enter estrella ewdadmin ewdx falcon ferrari flower football forever freedom friends gateway
  george ginger god golfer google guest guestguest hammer hannah harley hello hellohello helloworld hockey hunter
  iloveyou iloveyouforever iloveyousomuch iloveyoutoo internet jackson jasmine jennifer jessica jordan joshua justin
  killer king ladybug letmein letmeinnow letmeinplease liverpool login loginlogin london lovely loveme
  loveyou magic manager master masterkey matrix matthew maverick melissa mercedes merlin michael michelle mickey
  microphone microphones micwatch micwatchadmin micwatchpassword mixer monitor monitoring monkey monster
  mustang mypassword mypasswordis nascar network newpassword nicole nothing operator oracle orange pass passw
  passpass passphrase password passwordadmin passwordpassword passwordis passwords passwort passwortpasswort patrick
  peanut pepper phoenix player please pokemon princess private professional purple qazwsx qazwsxedc
  qazwsxedcrfv qwer qwerasdf qwerasdfzxcv qwerty qwertyqwerty qwertyuiop qwertz qwertzuiop rachel radio raider
  rainbow ranger receiver richard robert rocket root rootroot samantha samsung sandra scooter secret secretpassword
  secretsecret secure security sennheiser sennheiseradmin service shadow show shure shureadmin shurepassword silver
  slayer slipknot slxd snoopy soccer sound soundadmin soundcheck soundsystem spider stage starwars steven summer
  sunshine super superadmin superman supersecret superuser support sweet sysadmin system systemadmin tech
  technician temp temporary tennis test tester testing testpassword testtest theater theatre thomas thunder tiger
  tigger transmitter trustno trustnoone ulxd user username venue viewer welcome welcomeadmin welcometo
  welcomewelcome whatever william winner winter wireless wirelessmic wirelessmicrophone wizard yankees yellow
  zaqwsx zaqxsw zxcasdqwe zxcvbn zxcvbnm zxczxc 1q2w3e4r5t6y 1qaz2wsx3edc 1qaz2wsx3edc4rfv q1w2e3r4t5y6
  qwe123qwe123 112233445566 121212121212 123123123123 147258369147 159753159753 987654321098 147258369000
  741852963000 123456654321 111222333444 123454321234 102030405060 010203040506 001122334455
  `
    .trim()
    .split(/\s+/),
)
