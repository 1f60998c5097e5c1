/** The antennas in use: letters in reports and records, a bit mask with A as bit 0 in levels. */

const letters = 'ABCD'
const firstCode = letters.charCodeAt(0)

export function toAntennaMask(antennas: string): number {
  let mask = 0
  for (let index = 0; index < antennas.length; index += 1) {
    const bit = antennas.charCodeAt(index) - firstCode
    if (bit >= 0 && bit < letters.length) mask |= 1 << bit
  }
  return mask
}

export function toAntennaLetters(mask: number): string {
  return [...letters].filter((_, bit) => (mask & (1 << bit)) !== 0).join('')
}
