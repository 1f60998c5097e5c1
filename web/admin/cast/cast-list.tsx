import { type DragEvent, useState } from 'react'
import type { CastImport } from '../../../src/contract/imports.ts'
import type { StoredPictures } from '../../../src/contract/performers.ts'
import { useServices } from '../../app/context.ts'
import { t } from '../../app/i18n.ts'
import { useRequest } from '../../app/resource.ts'
import { ProblemLine } from '../../parts/dialogs/notice.tsx'
import { TickField } from '../../parts/forms/field.tsx'
import { focused } from '../../parts/forms/focused.ts'
import { countColumns } from './cast-difference.ts'
import { AppliedCast, CastPreview, SkippedList } from './cast-result.tsx'
import { PhotoResult, readDropped, storePhotos } from './photos.tsx'
import { SlotsWithoutPack } from './slots-without-pack.tsx'
import { usePreview } from './use-preview.ts'

type Columns = CastImport['columns']

interface Applied {
  readonly cast: CastImport
  readonly photos: StoredPictures | null
}

export function CastListForm() {
  const { api } = useServices()
  const [text, setText] = useState('')
  /** Null while the service determines them. */
  const [columns, setColumns] = useState<Columns | null>(null)
  const [createsSlots, setCreatesSlots] = useState(false)
  const [fetchesPhotos, setFetchesPhotos] = useState(false)
  /** Stored after the list, which may add their performers. */
  const [files, setFiles] = useState<readonly File[]>([])
  const [applied, setApplied] = useState<Applied | null>(null)
  const [photos, setPhotos] = useState<StoredPictures | null>(null)
  const { send, isSending, problem, forget } = useRequest()
  const hasText = text.trim() !== ''
  const options = { create_slots: createsSlots, fetch_photos: fetchesPhotos }
  const importCast = (isPreview: boolean) =>
    api.write(
      'POST',
      '/api/import/cast/',
      { text, ...options, ...(columns !== null && { columns }), ...(isPreview && { preview: true }) },
      'object',
    )
  const preview = usePreview(JSON.stringify([text, columns, options]), hasText ? () => importCast(true) : null)
  const shownColumns = columns ?? preview.result?.columns ?? noColumns

  const sendPhotos = async (files: readonly File[]) => {
    if (files.length === 0) return null
    const response = await send(() => storePhotos(api, files))
    if (!response?.ok) return null
    setFiles([])
    return response.body
  }
  const apply = async () => {
    const response = await send(() => importCast(false))
    if (!response?.ok) return
    setApplied({ cast: response.body, photos: await sendPhotos(files) })
    setText('')
    setColumns(null)
  }
  const edit = (text: string) => {
    forget()
    setApplied(null)
    setColumns(null)
    setText(text)
  }
  const receive = async (received: readonly File[]) => {
    const lists = received.filter(isList)
    const pictures = received.filter((file) => !isList(file))
    const [list] = lists
    if (list !== undefined) edit(await list.text())
    if (pictures.length === 0) return
    if (hasText || list !== undefined) setFiles(pictures)
    else setPhotos(await sendPhotos(pictures))
  }

  if (applied !== null) {
    const undoIds = [applied.photos?.undo_id ?? null, applied.cast.undo_id]
    return (
      <AppliedCast
        changes={applied.cast.changes}
        undoIds={undoIds}
        another={t('cast.another')}
        onClose={() => setApplied(null)}
      >
        {problem === null ? null : <ProblemLine problem={problem} />}
        {applied.photos === null ? null : <PhotoResult stored={applied.photos} />}
        <SkippedRows {...applied.cast} />
      </AppliedCast>
    )
  }
  return (
    <DropTarget onFiles={(files) => void receive(files)}>
      <label className="cast-text">
        <span>{t('cast.text')}</span>
        <textarea
          className="input"
          rows={8}
          value={text}
          placeholder={t('cast.example')}
          {...focused}
          spellCheck={false}
          onChange={(event) => edit(event.target.value)}
        />
      </label>
      <div className="list-actions">
        <FileButton text={t('cast.openList')} accept=".csv,.tsv,.txt" onFiles={(files) => void receive(files)} />
        <FileButton
          text={t('cast.photos.add')}
          accept="image/*"
          isMultiple={true}
          onFiles={(files) => void receive(files)}
        />
        <span className="hint">{t('cast.photos.hint')}</span>
      </div>
      <WaitingPhotos files={files} />
      {photos === null ? null : <PhotoResult stored={photos} />}
      {preview.problem === null ? null : <ProblemLine problem={preview.problem} />}
      {!hasText && problem !== null ? <ProblemLine problem={problem} /> : null}
      {!hasText || (preview.result === null && preview.problem === null) ? null : (
        <>
          <ColumnChoices count={countColumns(text)} columns={shownColumns} onChange={setColumns} />
          <TickField
            name="create_slots"
            label={t('cast.createSlots')}
            hint={t('cast.createSlotsHint')}
            checked={createsSlots}
            onChange={({ target }) => setCreatesSlots(target.checked)}
          />
          {shownColumns.photo === null ? null : (
            <TickField
              name="fetch_photos"
              label={t('cast.fetchPhotos')}
              hint={t('cast.fetchPhotosHint')}
              checked={fetchesPhotos}
              onChange={({ target }) => setFetchesPhotos(target.checked)}
            />
          )}
        </>
      )}
      {preview.result === null ? null : (
        <CastPreview {...{ isSending, problem }} changes={preview.result.changes} onApply={() => void apply()}>
          <SkippedRows {...preview.result} />
        </CastPreview>
      )}
      {hasText ? null : <SlotsWithoutPack />}
    </DropTarget>
  )
}

function WaitingPhotos({ files }: { files: readonly File[] }) {
  const others = files.filter((file) => !isPicture(file))
  const count = files.length - others.length
  const items = others.map(({ name }) => ({ what: name, reason: t('performers.notAPicture') }))
  return (
    <>
      {count === 0 ? null : <p role="status">{t('cast.photos.waiting', { count })}</p>}
      <SkippedList title={t('cast.photos.left', { count: items.length })} items={items} />
    </>
  )
}

const isPicture = ({ type }: File) => type.startsWith('image/')

function isList({ name, type }: File): boolean {
  return /^text\//.test(type) || /\.(csv|tsv|txt)$/i.test(name)
}

interface FilesProps {
  onFiles(files: readonly File[]): void
}

function DropTarget({ onFiles, children }: FilesProps & { readonly children: React.ReactNode }) {
  const [isOver, setOver] = useState(false)
  const hasFiles = ({ dataTransfer }: DragEvent) => dataTransfer.types.includes('Files')
  const over = (event: DragEvent) => {
    if (!hasFiles(event)) return
    event.preventDefault()
    setOver(true)
  }
  const drop = (event: DragEvent) => {
    setOver(false)
    if (!hasFiles(event)) return
    event.preventDefault()
    void readDropped(event.dataTransfer).then(onFiles)
  }
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: the buttons do the same with the keyboard
    <div
      className="cast-drop"
      data-over={isOver || undefined}
      onDragOver={over}
      onDragLeave={() => setOver(false)}
      onDrop={drop}
    >
      {children}
    </div>
  )
}

interface FileButtonProps extends FilesProps {
  readonly text: string
  readonly accept: string
  readonly isMultiple?: boolean
}

function FileButton({ text, accept, isMultiple = false, onFiles }: FileButtonProps) {
  return (
    <label className="choice cast-file">
      {text}
      <input
        className="visually-hidden"
        type="file"
        accept={accept}
        multiple={isMultiple}
        onChange={({ target }) => {
          onFiles([...(target.files ?? [])])
          target.value = ''
        }}
      />
    </label>
  )
}

function SkippedRows({ skipped, failures }: Pick<CastImport, 'skipped' | 'failures'>) {
  const whatOf = (row: number, name: string | null) => `${t('cast.row', { row })} ${name ?? ''}`.trim()
  const items = skipped.map(({ row, name, reason }) => ({ what: whatOf(row, name), reason }))
  const photos = failures.map(({ row, name, reason }) => ({ what: whatOf(row, name), reason }))
  return (
    <>
      <SkippedList title={t('cast.skipped', { count: items.length })} items={items} />
      <SkippedList title={t('cast.photos.notFetched', { count: photos.length })} items={photos} />
    </>
  )
}

const columnNames = ['slot', 'pack', 'name', 'role', 'note', 'photo'] as const
const noColumns: Columns = { slot: null, pack: null, name: null, role: null, note: null, photo: null }

const letters = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ'

interface ColumnChoicesProps {
  readonly count: number
  readonly columns: Columns
  onChange(columns: Columns): void
}

function ColumnChoices({ count, columns, onChange }: ColumnChoicesProps) {
  const indexes = Array.from({ length: Math.min(count, letters.length) }, (_, index) => index)
  return (
    <fieldset className="cast-columns">
      <legend>{t('cast.columns')}</legend>
      {columnNames.map((name) => (
        <label key={name}>
          <span>{t(`cast.column.${name}`)}</span>
          <select
            className="input"
            value={columns[name] ?? ''}
            onChange={({ target }) =>
              onChange({ ...columns, [name]: target.value === '' ? null : Number(target.value) })
            }
          >
            <option value="">{t('cast.noColumn')}</option>
            {indexes.map((index) => (
              <option key={index} value={index}>
                {letters.charAt(index)}
              </option>
            ))}
          </select>
        </label>
      ))}
    </fieldset>
  )
}
