/**
 * The component ids (ACN DCID) of Shure's networked receivers and chargers, with model, channels and band. Source: the
 * map in Shure's Update Utility (`DCIDMap.xml`). The ids are UUIDs; the table contains only their first eight digits,
 * which identify the model and band. `?` marks ids without a band in the map. Devices newer than the map are identified
 * by their model name.
 */

interface ModelIds {
  readonly model: string
  readonly device_type: string
  readonly channels: number
  readonly ids: string
}

export interface KnownModel extends Omit<ModelIds, 'ids'> {
  /** Null if unknown. */
  readonly band: string | null
}

const models: readonly ModelIds[] = [
  {
    model: 'UR4S',
    device_type: 'uhfr',
    channels: 1,
    ids: `
      ? CCB8A40C`,
  },
  {
    model: 'UR4D',
    device_type: 'uhfr',
    channels: 2,
    ids: `
      ? CCB8DB5C`,
  },
  {
    model: 'AD4D',
    device_type: 'ad',
    channels: 2,
    ids: `
      ? CD282D40 CD285B30 CD2886E6 CD28B486 | D12 0496551E | R52 042D1C02`,
  },
  {
    model: 'AD4Q',
    device_type: 'ad',
    channels: 4,
    ids: `
      ? CD28E12C CD290B70 CD293640 CD296318 | D12 0496C6D4 | R52 042D5A00`,
  },
  {
    model: 'QLXD4',
    device_type: 'qlxd',
    channels: 1,
    ids: `
      G50 CCE8D7E4 | G51 CCE90598 | G52 CCE930CC | G62 0405BFCC | H50 CCE96056 | H51 CCE98EE6 | H52 CCE9B664 |
      H53 CCE9DF86 | H54 CCEA0E0C | J50 CCEA3C10 | J50A 0427D274 | J52 CCEA6B2C | JB CCEA95B6 | K51 CCEAC054 |
      K52 CCEAEB7E | L50 CCEB13C4 | L50A 04280BFE | L51 CCEB3AC0 | L52 CCEB6928 | L53 CCF46000 | P51 CCEB98C6 |
      P52 CCEBC30A | Q51 CCEBE9B6 | S50 CCEC104E | V50 CD12C32E | V51 CD130C1C | V52 04A15AEA | X51 CCEC3722 |
      X52 CD0A162A | X53 CD0A44B0 | X54 CD0A7494 | Z16 CD11DFD6 | Z17 CD120DB2 | Z18 CD125AB0 | Z19 CD1293B8 |
      Z20 03F4A02A`,
  },
  {
    model: 'ULXD4',
    device_type: 'ulxd',
    channels: 1,
    ids: `
      ? CCCF2B0A CCE1BAD6 | AB 046F8560 CCCED3F8 | G50 04728DD2 CCCD012C | G51 046C5160 CCCD28F0 |
      G52 0471EEE0 CCDF5764 | G62 040688F8 0470FD00 | H50 046B7C9A CCF3A1E2 | H51 046ABC24 CCCD505A |
      H52 0471AD5E CCDF7E74 | J50 046A1422 CCCD7788 | J50A 042692D8 0470707E | J51 046BB67E CCF4D06C |
      K51 04723328 CCCD9E66 | L50 04698D54 CCCDC544 | L50A 04262A5A 046AF450 | L51 046CE22E CCCDEC2C |
      L53 046DB8B6 CCF5A0C8 | P51 046E749A CCCE197C | Q51 046F1A80 CCCE4884 | R51 04716718 CCCE73EA |
      V50 046A4EB0 CD0DE8FE | V51 04702146 CD0E0F64 | V52 049EB740 049EF94E | X50 046ECE90 CCCEA2A2 |
      X51 046D6F96 CCE4D158 | X52 046BF42C CD07271C | X53 046FD024 CD074CEC | X54 046D2D2E CD0774B0 |
      Z16 046C9CB0 CD0D4DF4 | Z17 0470B3D6 CD0D7446 | Z18 046B43EC CD0D9A48 | Z19 046E0302 CD0DC1C6 |
      Z20 03F600D2 0469CA08`,
  },
  {
    model: 'ULXD4D',
    device_type: 'ulxd',
    channels: 2,
    ids: `
      ? CCD19DAE | AB 048B7CE8 CCD145AC | G50 04885A72 CCCF5206 | G51 04947F00 CCCF7CD6 | G52 048ECDC6 CCDFCAB4 |
      G62 0406C584 048B12BC | H50 0485E788 CCF3C7DA | H51 048D4456 CCCFAB70 | H52 048A8A4A CCDFF098 |
      J50 048E9536 CCCFDA6E | J50A 04275D26 0489FE4A | J51 04861EBA CCF4F754 | K51 04895468 CCD00976 |
      L50 0491DE44 CCD033F6 | L50A 042799E4 04959B42 | L51 0493F49A CCD060BA | L53 048DB9E0 CCF5CEC2 |
      P51 049269D6 CCD08E78 | Q51 048C64FA CCD0BDD0 | R51 04849266 CCD0E922 | V50 04900C90 CD0ECF76 |
      V51 0487DBC4 CD0EF622 | V52 04A01F4A 04A06748 | X50 048CF96A CCD11820 | X51 04933D48 CCE4F778 |
      X52 048459FE CD079BDE | X53 048F7492 CD07C244 | X54 0490B730 CD07E864 | Z16 048E5E4A CD0E367E |
      Z17 048744B6 CD0E5D34 | Z18 0492B0F8 CD0E82FA | Z19 0492F89C CD0EA94C | Z20 03F63D2C 0494DA18`,
  },
  {
    model: 'ULXD4Q',
    device_type: 'ulxd',
    channels: 4,
    ids: `
      ? CCD3F5A4 CCE212C4 | AB 048356C6 CCD3A842 | G50 047CC022 CCD1CAF4 | G51 0482B4AA CCD1FBDC |
      G52 0478F4CE CCE03CA6 | G62 0407257E 047AE28E | H50 0479FE3C CCF3ED82 | H51 047351C2 CCD229A4 |
      H52 04778670 CCE0626C | J50 0474F982 CCD25320 | J50A 04270C86 047CF98E | J51 04786B12 CCF51D1A |
      K51 0475FB70 CCD27AA8 | L50 04839834 CCD2A898 | L50A 0426C91A 0483DD4E | L51 0481E67E CCD2D7AA |
      L53 0476DB6C CCF5FD66 | P51 0481423C CCD3048C | Q51 0474383A CCD331C8 | R51 0473C9F4 CCD3596E |
      V50 047F30D2 CD0FB5D0 | V51 047C3B84 CD0FDD94 | V52 049F3224 049F6514 | X50 047F7D9E CCD38150 |
      X51 0479B4AE CCE52004 | X52 047D9A1A CD080DC6 | X53 0474A1A8 CD0833AA | X54 04801BC8 CD0858EE |
      Z16 04757060 CD0F1C4C | Z17 047BC410 CD0F4294 | Z18 047EF1F8 CD0F6968 | Z19 047E50CC CD0F900A |
      Z20 03F7A572 04826D7E`,
  },
  {
    model: 'P10T',
    device_type: 'psm1000',
    channels: 2,
    ids: `
      A24 CCC93646 | G10 CCC665EC | G10E CCC68C52 | G10J CD00A7F2 | G11 CCC7F9FC | G62 041382D8 | H22 04AA19BE |
      H8Z CCC6B772 | J8 CCC6E562 | J8A 0423D214 | J8E CCC713E8 | J8J CD00CE58 | K10E CCC740B6 | L11J CD011B92 |
      L8 CCC76DF2 | L8A 042410C6 | L8E CCC79CC8 | L8J CD00F572 | L9E CCC7CC66 | P8 CCC827D8 | Q21 CCC85654 |
      Q22E CCC8AF46 | R26 CCC8DB92 | R27 CCC909FA | X1 CCC95F5E | X2 CCC98740 | X7 CCE48608`,
  },
  { model: 'SBC220', device_type: 'charger', channels: 0, ids: '? 04232760 CD0CB29A' },
  { model: 'SBRC', device_type: 'charger', channels: 0, ids: '? CD0C625E' },
]

/**
 * The form of an id: a UUID whose first eight digits identify the model and band. The next two groups of digits are one
 * of two pairs, and the last group is always the same.
 */
const shape = /^([0-9A-F]{8})-(?:E139-11DF|FD5A-11E3)-[89AB][0-9A-F]{3}-0015C5F3F612$/

const byId = new Map(
  models.flatMap(({ ids, ...kind }) => [...readBands(ids)].map(([id, band]) => [id, { ...kind, band }])),
)

function* readBands(ids: string): Generator<[id: string, band: string | null]> {
  for (const group of ids.split('|')) {
    const [band = '', ...bandIds] = group.trim().split(/\s+/)
    for (const id of bandIds) yield [id, band === '?' ? null : band]
  }
}

/** Returns null for an unknown id. */
export function findModel(dcid: string): KnownModel | null {
  const digits = shape.exec(dcid.toUpperCase())?.[1]
  return (digits !== undefined && byId.get(digits)) || null
}
