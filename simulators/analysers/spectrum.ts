/** The levels that simulated analysers measure: noise, and carriers with their skirts. */

export interface SimulatedCarrier {
  readonly mhz: number
  readonly dbm: number
}

const noiseDbm = -104
const halfWidthMhz = 0.05
/** Beyond half the width, per MHz. */
const skirtDb = 200

export function levelAt(mhz: number, carriers: readonly SimulatedCarrier[]): number {
  const levels = carriers.map((carrier) => {
    const distance = Math.abs(mhz - carrier.mhz)
    return carrier.dbm - Math.max(0, distance - halfWidthMhz) * skirtDb
  })
  return Math.max(noiseDbm, ...levels)
}
