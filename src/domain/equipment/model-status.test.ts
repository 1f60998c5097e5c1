import { expect, it } from 'vitest'
import { findModelStatus, type ModelStatus } from './model-status.ts'

const row = (model: string, rest: Partial<ModelStatus> = {}): ModelStatus => ({
  ...{ model, protocol: 'strings', deviceTypes: ['ulxd'], firmware: null, status: 'documents' },
  ...{ date: '2026-11-30', source: 'Shure', values: [] },
  ...rest,
})
const rows = [
  row('ULX-D'),
  row('ULXD4Q', { models: /^ULXD4Q/ }),
  row('ULX-D 2.6', { firmware: '2.6', status: 'confirmed by a user' }),
  row('ULX-D 2.7', { firmware: '2.7', status: 'confirmed by a user' }),
  row('ULX-D, system', { protocol: 'system-api' }),
  row('QLX-D', { deviceTypes: ['qlxd'] }),
  row('QLX-D 2.0', { deviceTypes: ['qlxd'], firmware: '2.0', status: 'capture' }),
]
const reported = { protocols: ['strings'], deviceType: 'ulxd', model: 'ULXD4', firmware: null }

// Conformance: C-24.61.
it.each([
  ['ULX-D 2.7', { firmware: '2.7' }],
  ['ULX-D 2.6', { firmware: '3.0' }],
  ['ULX-D, system', { protocols: ['system-api'] }],
  ['QLX-D 2.0', { deviceType: 'qlxd', firmware: '2.0' }],
  ['QLX-D', { deviceType: 'qlxd', firmware: '2.1' }],
  [undefined, { deviceType: 'slxd' }],
  [undefined, { protocols: [] }],
])('finds the strongest status of a model, if possible of its firmware: %s', (model, changes) => {
  expect(findModelStatus(rows, { ...reported, ...changes })?.model).toBe(model)
})

it('prefers the row of a model to that of its family', () => {
  const documents = rows.filter(({ status }) => status === 'documents')
  expect(findModelStatus(documents, { ...reported, model: 'ULXD4Q-A' })?.model).toBe('ULXD4Q')
  expect(findModelStatus(documents, { ...reported, model: null })?.model).toBe('ULX-D')
})
