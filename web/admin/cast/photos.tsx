import type { StoredPictures } from '../../../src/contract/performers.ts'
import type { Api, ApiResponse } from '../../app/api.ts'
import { t } from '../../app/i18n.ts'
import { SkippedList } from './cast-result.tsx'
import { smallPicture } from './small-picture.ts'

type PhotoFailure = StoredPictures['failures'][number]

/** Uploads photos that are named after performers, reduced to the size that the service keeps. */
export async function storePhotos(api: Api, files: readonly File[]): Promise<ApiResponse<StoredPictures>> {
  const form = new FormData()
  const failures: PhotoFailure[] = []
  for (const file of files) {
    const picture = await smallPicture(file)
    if (picture === null) failures.push({ file: file.name, reason: t('performers.notAPicture') })
    else form.append('file', toBlob(picture), file.name)
  }
  if (!form.has('file')) return { ok: true, body: withFailures(noPictures, failures) }
  const response = await api.upload('/api/performers/pictures/', form)
  return response.ok ? { ok: true, body: withFailures(response.body, failures) } : response
}

const noPictures: StoredPictures = { matched: [], unmatched: [], failures: [], undo_id: null }

function withFailures(stored: StoredPictures, failures: readonly PhotoFailure[]): StoredPictures {
  return {
    ...stored,
    unmatched: [...stored.unmatched, ...failures.map(({ file }) => file)],
    failures: [...stored.failures, ...failures],
  }
}

function toBlob(dataUrl: string): Blob {
  const [head = '', base64 = ''] = dataUrl.split(',')
  const bytes = Uint8Array.from(atob(base64), (character) => character.charCodeAt(0))
  return new Blob([bytes], { type: /^data:([^;]+)/.exec(head)?.[1] ?? '' })
}

/** Reads the dropped files, including those in folders. */
export async function readDropped({ items, files }: DataTransfer): Promise<readonly File[]> {
  const entries = [...items].map((item) => item.webkitGetAsEntry())
  if (entries.every((entry) => entry === null)) return [...files]
  const found = await Promise.all(entries.map((entry) => (entry === null ? [] : readEntry(entry))))
  return found.flat().filter(({ name }) => !name.startsWith('.'))
}

async function readEntry(entry: FileSystemEntry): Promise<readonly File[]> {
  if (isFile(entry)) return [await new Promise<File>((resolve, reject) => entry.file(resolve, reject))]
  const reader = (entry as FileSystemDirectoryEntry).createReader()
  const files: File[] = []
  for (;;) {
    const part = await new Promise<FileSystemEntry[]>((resolve, reject) => reader.readEntries(resolve, reject))
    if (part.length === 0) return files
    files.push(...(await Promise.all(part.map(readEntry))).flat())
  }
}

function isFile(entry: FileSystemEntry): entry is FileSystemFileEntry {
  return entry.isFile
}

export function PhotoResult({ stored: { matched, unmatched, failures } }: { stored: StoredPictures }) {
  const reasons = new Map(failures.map(({ file, reason }) => [file, reason]))
  const items = unmatched.map((file) => ({
    what: file,
    reason: reasons.get(file) ?? t('cast.photos.unmatched'),
  }))
  return (
    <>
      <p role="status">{t('cast.photos.stored', { count: matched.length })}</p>
      <SkippedList title={t('cast.photos.left', { count: items.length })} items={items} />
    </>
  )
}
