import { describe, expect, it } from 'vitest'
import { AuditQuery } from '../../contract/access.ts'
import { AlertQuery, alertOperations } from '../../contract/alerts.ts'
import { UnitQuery } from '../../contract/hardware.ts'
import { AssignmentQuery } from '../../contract/performers.ts'
import { placeOperations } from '../../contract/places.ts'
import { ById } from '../../contract/schema.ts'
import { createValidatorCompiler } from './validation.ts'

const compile = createValidatorCompiler()
const route = { method: 'GET', url: '/' } as const
const read = (schema: typeof AlertQuery | object, values: object, httpPart = 'querystring') =>
  (compile({ schema: schema as typeof AlertQuery, httpPart, ...route }) as (values: object) => unknown)(values)

// Conformance: C-5.61.
describe('parameters', () => {
  it('are converted from text, and undeclared ones are removed', () => {
    const values = { receiver: '12', state: 'raised', manufacturer: 'shure', page: '2', other: 'x' }
    expect(read(AlertQuery, values)).toEqual({
      value: { receiver: 12, state: 'raised', manufacturer: 'shure', page: 2 },
    })
    expect(read(AssignmentQuery, { is_active: 'false' })).toEqual({ value: { is_active: false } })
    expect(read(ById, { id: '9007199254740991' }, 'params')).toEqual({ value: { id: 9007199254740991 } })
  })

  it('are ignored if they are filters without a value', () => {
    expect(read(AlertQuery, { receiver: '', state: '', manufacturer: '' })).toEqual({ value: {} })
  })

  it.each<[object, object, string]>([
    [AlertQuery, { page: '' }, 'page: expected a whole number of 1 or more'],
    [AlertQuery, { page: '0' }, 'page: expected a whole number of 1 or more'],
    [AlertQuery, { receiver: '01' }, 'receiver: expected a whole number of 1 or more'],
    [AlertQuery, { receiver: '1e3' }, 'receiver: expected a whole number of 1 or more'],
    [AlertQuery, { receiver: '9007199254740992' }, 'receiver: expected a whole number of 1 or more'],
    [AlertQuery, { state: 'active' }, 'state: expected one of raised, snoozed, acknowledged, cleared, open'],
    [AlertQuery, { from: '2026-02-30' }, 'from: expected a day or a time such as 2026-05-01T18:00:00Z'],
    [AlertQuery, { manufacturer: ['a', 'b'] }, 'manufacturer: expected only one value'],
    [UnitQuery, { battery_percentage: '101' }, 'battery_percentage: expected a whole number from 0 to 100'],
    [AssignmentQuery, { is_active: 'perhaps' }, 'is_active: expected one of true, false, 1, 0'],
    [AuditQuery, { after: 'soon' }, 'after: expected a day or a time such as 2026-05-01T18:00:00Z'],
    [AuditQuery, { after: '2026-13-01' }, 'after: expected a day or a time such as 2026-05-01T18:00:00Z'],
    [
      placeOperations.getBands.schema.querystring,
      { country: 'USA' },
      'country: expected a country code of two letters, such as DE',
    ],
    [
      placeOperations.listTvStations.schema.querystring,
      { latitude: '91' },
      'latitude: expected a number from -90 to 90',
    ],
    [
      placeOperations.listTvStations.schema.querystring,
      { latitude: '1e1' },
      'latitude: expected a number from -90 to 90',
    ],
    [alertOperations.snoozeAlert.schema.params, { id: 'abc' }, 'id: expected a whole number'],
  ])('are rejected with the name and the expected value: %j %j', (schema, values, details) => {
    expect(read(schema, values)).toMatchObject({ error: { code: 'bad_request', details } })
  })
})
