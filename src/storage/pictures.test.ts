/** Pictures in the database, and the conversion of those of earlier versions. */

import { describe, expect, it } from 'vitest'
import { engines } from '../../test/support/store/databases.ts'
import { openStore } from '../../test/support/store/helpers.ts'
import { insertPerformer, listPerformers } from './hardware.ts'
import { movePictures } from './migrations/1.0.0.ts'
import { embedPictures, savePictureText } from './pictures.ts'

const png = `data:image/png;base64,iVBORw0KGgo${'A'.repeat(4000)}=`
const unchanged = [
  'data:image/svg+xml;base64,PHN2Zy8+',
  'data:image/png;base64,AAAA',
  'https://example.com/a.png',
  null,
] as const

describe.each(engines)('pictures in the database (%s)', (engine) => {
  // Conformance: C-16.4.
  it('are converted from the data URLs of earlier versions; others stay as they are', async () => {
    const db = await openStore(engine)
    const pictures = [png, png, ...unchanged]
    await db.transaction(async (tx) => {
      for (const picture of pictures) await insertPerformer(tx, { name: 'Ada', notes: '', picture })
    })
    await db.transaction((tx) => movePictures(tx.query))
    const converted = await listPerformers(db.read)
    const [first, second, ...others] = converted.map(({ picture }) => picture)
    expect(first).toMatch(/^\/api\/pictures\/[0-9a-f]{32}$/)
    expect(second).toBe(first)
    expect(others).toEqual(unchanged)
    expect((await embedPictures(db.read, converted)).map(({ picture }) => picture)).toEqual(pictures)
    // The same picture has the same address, whenever it is stored.
    expect(await db.transaction((tx) => savePictureText(tx, png))).toBe(first)
  })
})
