import { describe, expect, it } from 'vitest'
import { guardLevels } from '../../contract/values.ts'
import { createCarrier } from './carrier.ts'
import { checkCarriers } from './check.ts'
import { detectProfile, findBand } from './profile-changes.ts'
import { builtInProfiles, equipmentOf, genericProfileId, type Profile } from './profiles.ts'

function profileOf(id: string): Profile {
  return builtInProfiles.find((profile) => profile.id === id) as Profile
}

describe('the built-in profiles', () => {
  // Conformance: C-15.29.
  it.each(builtInProfiles)('$id has valid values and a source', (profile) => {
    expect(profile.source).not.toBe('')
    for (const level of guardLevels) {
      for (const guard of Object.values(profile.levels[level])) expect(Number.isInteger(guard)).toBe(true)
    }
    for (const { ranges } of profile.bands) {
      expect(ranges.length).toBeGreaterThan(0)
      for (const { fromKhz, toKhz } of ranges) {
        expect(fromKhz).toBeGreaterThan(0)
        expect(toKhz).toBeGreaterThan(fromKhz)
      }
    }
  })

  it('has 350/75 for ULX-D at the standard level', () => {
    expect(equipmentOf(profileOf('ulxd'), 'standard')).toMatchObject({
      guards: { spacing: 350, '2t3o': 75, '3t3o': 0, '2t5o': 0, '2t7o': 0, '2t9o': 0 },
      windowKhz: 100_000,
      isGenerator: true,
      occupiedKhz: 200,
    })
  })

  it.each(['adpsm_wide_2', 'adpsm_wide_4'])(
    'has the filters and windows of the narrowband transmitter for %s',
    (id) => {
      const { window_mhz, filter_centres } = profileOf('adpsm')
      expect(profileOf(id)).toMatchObject({ window_mhz, filter_centres, shares_carrier: true })
    },
  )

  it('limits a carrier to its band if the band is known, otherwise to all bands', () => {
    const kindsOf = (khz: number, band: string | null) =>
      checkCarriers([createCarrier({ id: 'c1', khz }, equipmentOf(profileOf('ulxd'), 'standard', band))]).conflicts.map(
        ({ kind }) => kind,
      )
    expect(kindsOf(600_000, 'G51')).toEqual(['outside_band'])
    expect(kindsOf(600_000, null)).toEqual([])
    expect(kindsOf(600_000, 'not a band')).toEqual([])
    expect(kindsOf(840_000, 'S50')).toEqual(['outside_band'])
    expect(kindsOf(864_000, 'S50')).toEqual([])
  })
})

// Conformance: C-15.13.
describe('detection', () => {
  it.each([
    ['ulxd', 'ULXD4Q', {}, 'ulxd'],
    ['ulxd', 'ULXD4Q G51', { mode: 'HIGH_DENSITY' }, 'ulxd_hd'],
    ['ulxd', 'ULXD4D X52', {}, 'ulxd_900'],
    ['qlxd', 'QLXD4', { khz: 915_000 }, 'ulxd_900'],
    ['qlxd', 'QLXD4 J50A', {}, 'ulxd'],
    ['slxd', 'SLXD4D', {}, 'slxd'],
    ['slxd', 'SLXD4', { band: 'JB' }, 'slxd_jb'],
    ['ad', 'AD4Q', {}, 'ad'],
    ['ad', 'AD4D', { mode: 'HIGH_DENSITY' }, 'ad_hd'],
    ['ad', 'ANX4', {}, 'ad'],
    ['ad', 'AXT400', {}, 'axt'],
    ['ad', 'ADTQ', {}, 'adpsm'],
    ['ad', 'ADTQ', { mode: 'WIDEBAND' }, 'adpsm_wide_4'],
    ['uhfr', 'UR4D', {}, 'uhfr'],
    ['psm1000', 'P10T', {}, 'psm1000'],
    ['ewdx', 'EW-DX EM 2 Dante', {}, 'ewdx'],
    ['ewdx', 'EW-DX EM 4 Dante', { mode: 'link density' }, 'ewdx_ld'],
    ['d6000', 'EM 6000 DANTE', {}, 'd6000'],
    ['em2000', 'EM 2050', {}, 'ew_g4'],
    ['g4', 'EW 300 G4', {}, 'ew_g4'],
    ['ew', null, {}, 'ew_g4'],
    ['ew-iem', null, {}, 'ew_iem'],
    ['spectera', 'Spectera Base Station', {}, 'spectera_8'],
    ['dsqd', 'DSQD', {}, 'lectrosonics'],
    ['charger', 'SBC220', {}, genericProfileId],
  ])('%s %s %j has the profile %s', (family, model, rest, profile) => {
    expect(detectProfile({ family, model, ...rest })).toBe(profile)
    expect(builtInProfiles.some(({ id }) => id === profile)).toBe(true)
  })

  it.each([
    ['ULXD4Q G51', 'G51'],
    ['QLXD4 J50A', 'J50A'],
    ['SLXD4 JB', 'JB'],
    ['EW-DX EM 2', null],
    ['EW 300 G4', null],
    [null, null],
  ])('finds the band in %s', (model, band) => {
    expect(findBand({ model })).toBe(band)
  })
})
