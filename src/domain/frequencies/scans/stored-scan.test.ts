import fc from 'fast-check'
import { expect, it } from 'vitest'
import { maxScanPoints } from './scan.ts'
import { packLevels, unpackLevels } from './stored-scan.ts'

it('restores any frequencies and levels', () => {
  const frequencies = fc.uniqueArray(fc.integer({ min: 1, max: 30_000_000 }), { maxLength: 300 })
  fc.assert(
    fc.property(
      frequencies,
      fc.array(fc.integer({ min: -4500, max: 3000 }), { minLength: 300, maxLength: 300 }),
      (khz, all) => {
        const levels = { khz: Uint32Array.from(khz).sort(), tenthsDbm: Int16Array.from(all.slice(0, khz.length)) }
        expect(unpackLevels(packLevels(levels), khz.length)).toEqual(levels)
      },
    ),
  )
})

it('takes about two bytes for each point of an ordinary scan', () => {
  const khz = Uint32Array.from({ length: maxScanPoints }, (_, index) => 400_000 + index * 5)
  const tenthsDbm = Int16Array.from(khz, (_, index) => -950 + Math.round(50 * Math.sin(index / 9)))
  expect(packLevels({ khz, tenthsDbm }).length).toBeLessThan(maxScanPoints * 2.1)
})
