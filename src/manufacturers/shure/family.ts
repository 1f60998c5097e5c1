/** Maps a model to its family, which is reported as device_type. */

const families: readonly (readonly [RegExp, string])[] = [
  [/^ULX-?D/i, 'ulxd'],
  [/^QLX-?D/i, 'qlxd'],
  [/^SLX-?D/i, 'slxd'],
  [/^(ADPSM|ADT[DQ])/i, 'adpsm'],
  [/^(AD\d|AXT|AXIENT)/i, 'ad'],
  [/^(UHF-?R|UR4)/i, 'uhfr'],
  [/^(PSM-?1000|P10)/i, 'psm1000'],
  [/^MXWAP/i, 'mxw'],
]

export function familyOf(model: string): string | undefined {
  return families.find(([pattern]) => pattern.test(model))?.[1]
}
