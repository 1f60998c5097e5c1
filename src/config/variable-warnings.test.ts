import { expect, test } from 'vitest'
import { readConfig } from '../config.ts'
import { listVariableWarnings } from './variable-warnings.ts'

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
