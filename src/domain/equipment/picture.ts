/** Pictures of performers: their formats and addresses. */

import { nameKey } from '../text.ts'

export const maxPictureBytes = 2_000_000

/** The limit for text that is stored as entered, such as the address of a picture elsewhere. */
export const maxPictureTextChars = 262_144

export type PictureType = 'image/png' | 'image/jpeg' | 'image/webp'

export interface Picture {
  readonly type: PictureType
  readonly bytes: Uint8Array
}

/** Detects the format from the first bytes; null if it is not supported. */
export function pictureTypeOf(bytes: Uint8Array): PictureType | null {
  const startsWith = (expected: readonly number[], offset = 0) =>
    expected.every((byte, index) => bytes[offset + index] === byte)
  if (startsWith([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a])) return 'image/png'
  if (startsWith([0xff, 0xd8, 0xff])) return 'image/jpeg'
  const [riff, webp] = [
    [0x52, 0x49, 0x46, 0x46],
    [0x57, 0x45, 0x42, 0x50],
  ]
  return startsWith(riff) && startsWith(webp, 8) ? 'image/webp' : null
}

interface Named {
  readonly id: number
  readonly name: string
}

/** Returns the people whose name the file has, apart from its extension, case, accents, and signs in place of spaces. */
export function findByFileName<Person extends Named>(file: string, people: readonly Person[]): readonly Person[] {
  const name = file.replace(/\.\w{1,5}$/, '').normalize('NFC')
  const exact = people.filter((person) => person.name.normalize('NFC') === name)
  return exact.length > 0 ? exact : people.filter((person) => fileKey(person.name) === fileKey(name))
}

function fileKey(name: string): string {
  return nameKey(name)
    .replace(/[\s_-]+/g, ' ')
    .trim()
}

const folder = '/api/pictures/'

/** Without the mount prefix. */
export function picturePath(id: string): string {
  return `${folder}${id}`
}

interface WithPicture {
  readonly picture: string | null
}

/** Adds the mount prefix to the address of a stored picture. */
export function withMount<Performer extends WithPicture>(performer: Performer, mount: string): Performer {
  const { picture } = performer
  return picture?.startsWith(folder) ? { ...performer, picture: `${mount}${picture}` } : performer
}

/** Removes the mount prefix from the address of a stored picture. */
export function withoutMount<Change extends Partial<WithPicture>>(change: Change, mount: string): Change {
  const { picture } = change
  return picture?.startsWith(`${mount}${folder}`) ? { ...change, picture: picture.slice(mount.length) } : change
}
