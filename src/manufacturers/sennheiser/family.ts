/** Maps a model name to the product family that Micwatch reports as `device_type`. */

const families: readonly (readonly [RegExp, string])[] = [
  [/EW-?DX/i, 'ewdx'],
  [/SPECTERA/i, 'spectera'],
  [/(EM ?6000|DIGITAL ?6000|D6000)/i, 'd6000'],
  [/EM ?2(000|050)/i, 'em2000'],
  [/CHG ?70N/i, 'chg70n'],
  [/^L ?6000/i, 'l6000'],
  [/^SL ?(DW ?\dCH|MCR)/i, 'slmcr'],
  [/^SL ?(DW|Rack)/i, 'slrack'],
  [/CHG ?2N/i, 'chg2n'],
  [/CHG ?4N/i, 'chg4n'],
  [/G4/i, 'g4'],
  [/G3/i, 'g3'],
]

export function familyOf(model: string): string | undefined {
  return families.find(([pattern]) => pattern.test(model))?.[1]
}
