import { expect, test } from 'vitest'
import { parseEnvironmentFile } from './environment-file.ts'

// Conformance: C-1.25.
// The rules of EnvironmentFile in systemd.exec(5).
test.each([
  ['A=1\nB=2\n', { A: '1', B: '2' }],
  ['# A=1\n; B=2\n\n  C = 3  \nwithout a value\nD=', { C: '3', D: '' }],
  ['KEY=abc#def;ghi "x"', { KEY: 'abc#def;ghi "x"' }],
  [`A='x # \\n "y"'\nB="x 'y' \\"z\\" \\$HOME \\n"`, { A: 'x # \\n "y"', B: `x 'y' "z" $HOME \\n` }],
  ['A=one \\\n  two\\ \nB="x\\\ny"\nC="line 1\nB=line 2"', { A: 'one   two ', B: 'xy', C: 'line 1\nB=line 2' }],
  [`A="a"'b' c`, { A: 'abc' }],
  ['A=1\r\nB=2\r\n', { A: '1', B: '2' }],
  ['A=old\nA=new\n1A=x\nexport C=3', { A: 'new' }],
])('parseEnvironmentFile reads %j', (text, variables) => {
  expect(parseEnvironmentFile(text)).toEqual(variables)
})
