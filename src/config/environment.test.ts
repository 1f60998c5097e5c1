import { expect, test } from 'vitest'
import { readConfig } from '../config.ts'
import { listVariableWarnings, parseEnvironmentFile } from './environment.ts'

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

// Conformance: C-1.23.
test('listVariableWarnings suggests the variable that was probably meant', () => {
  expect(
    listVariableWarnings({
      MICWATCH_PROT: '1',
      MICWATCH_DATABSE_URL: 'x',
      MICWATCH_MANUFACTURERS: 'x',
      MICWATCH_RATE_LIMIT_OVERRIDES: 'x',
      MICWATCH_COLOUR: 'blue',
      MICWATCH_PORT: '1',
      MICWATCH_MQTT_PASSWORD_FILE: 'x',
      MICWATCH_TOKEN: 'x',
      PATH: 'x',
    }),
  ).toEqual([
    'MICWATCH_PROT has no effect, because there is no such variable; did you mean MICWATCH_PORT?',
    'MICWATCH_DATABSE_URL has no effect, because there is no such variable; did you mean MICWATCH_DATABASE_URL?',
    'MICWATCH_MANUFACTURERS has no effect, because there is no such variable; this can only be set in the configuration file',
    'MICWATCH_RATE_LIMIT_OVERRIDES has no effect, because there is no such variable; this can only be set in the configuration file',
    'MICWATCH_COLOUR has no effect, because there is no such variable; docs/configuration.md lists all',
  ])
})

test('variables that an orchestrator injects are ignored', () => {
  const env = {
    MICWATCH_PORT: 'tcp://10.0.0.1:80',
    MICWATCH_PORT_80_TCP: 'tcp://10.0.0.1:80',
    MICWATCH_PORT_80_TCP_ADDR: '10.0.0.1',
    MICWATCH_SERVICE_HOST: '10.0.0.1',
    MICWATCH_SERVICE_PORT_HTTP: '80',
    MICWATCH_WEB_PORT: 'tcp://10.0.0.2:80',
    MICWATCH_WEB_SERVICE_HOST: '10.0.0.2',
  }
  expect(listVariableWarnings(env)).toEqual([])
  expect(readConfig({}, env)).toEqual(readConfig({}, {}))
  expect(listVariableWarnings({ MICWATCH_SERVICE_HOST: 'x' })).toHaveLength(1)
})
