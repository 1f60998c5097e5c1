import { describe, expect, it } from 'vitest'
import type { SourceBody } from '../../../src/contract/live-messages.ts'
import { offlineReason, sourcesOf } from './receiver-sources.ts'

const receiver = { manufacturer: 'shure', ip: '10.0.0.5', site: null }
const source = (address: string, status = 'healthy', error: string | null = null): SourceBody => {
  return { code: 'shure', address, status, error, silent_since: null }
}
const system = source('https://10.0.0.1:10000')
const other = { ...system, code: 'sennheiser' }

describe('sourcesOf', () => {
  it('returns the sources that report the receiver, as far as they still exist', () => {
    const second = source('https://10.0.0.2:10000')
    const direct = source('tcp://10.0.0.5:2202')
    expect(sourcesOf(receiver, [system, second, direct], [second.address])).toEqual([second])
    expect(sourcesOf(receiver, [system, direct], [second.address])).toEqual([direct])
  })

  it('returns the source at the address of the receiver', () => {
    const direct = source('tcp://10.0.0.5:2202')
    expect(sourcesOf(receiver, [system, direct, other], [])).toEqual([direct])
  })

  it('returns the source through which a site is followed for a receiver of the site', () => {
    const followed = { ...source('https://north.example'), code: 'north' }
    const site = { code: 'north/theatre', name: 'Royal Theatre' }
    expect(sourcesOf({ ...receiver, site }, [system, followed], [])).toEqual([followed])
  })

  it('otherwise returns all sources of the manufacturer', () => {
    const second = source('tcp://10.0.0.50:2202')
    expect(sourcesOf(receiver, [system, second, other], [])).toEqual([system, second])
    expect(sourcesOf({ ...receiver, ip: null }, [system, other], [])).toEqual([system])
  })
})

describe('offlineReason', () => {
  it('names the error of the source if all sources fail', () => {
    const failing = source('tcp://10.0.0.5:2202', 'unhealthy', 'Connection refused.')
    expect(offlineReason([failing])).toBe('Its source tcp://10.0.0.5:2202 fails: Connection refused.')
  })

  it('otherwise blames the receiver', () => {
    const failing = source('https://10.0.0.2:10000', 'unhealthy', 'Connection refused.')
    expect(offlineReason([system, failing])).toMatch(/^Its source responds/)
    expect(offlineReason([])).toMatch(/^Its source responds/)
  })
})
