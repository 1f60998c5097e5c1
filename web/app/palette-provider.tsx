/** Opens the command palette with Ctrl K, or Command K. A kiosk has none. */

import {
  createContext,
  lazy,
  type ReactNode,
  Suspense,
  useCallback,
  useContext,
  useEffect,
  useRef,
  useState,
} from 'react'
import { flushSync } from 'react-dom'
import { Dialog } from '../parts/dialogs/dialog.tsx'
import { focused } from '../parts/forms/focused.ts'
import type { Command } from '../parts/toolbar/commands.ts'
import { t } from './i18n.ts'
import { useIsKiosk } from './query.ts'

const Palette = lazy(async () => ({ default: (await import('./palette.tsx')).Palette }))

interface PaletteAccess {
  open(): void
  /** The commands of the current page. */
  setCommands(commands: readonly Command[]): void
}

const PaletteContext = createContext<PaletteAccess>({ open: () => {}, setCommands: () => {} })

export function useOpenPalette(): () => void {
  return useContext(PaletteContext).open
}

export function usePaletteCommands(commands: readonly Command[]): void {
  const { setCommands } = useContext(PaletteContext)
  useEffect(() => setCommands(commands), [commands, setCommands])
  useEffect(() => () => setCommands([]), [setCommands])
}

export function PaletteProvider({ children }: { children: ReactNode }) {
  const [isShown, setShown] = useState(false)
  const isKiosk = useIsKiosk()
  const commands = useRef<readonly Command[]>([])
  const [access] = useState<PaletteAccess>(() => ({
    open: () => setShown(true),
    setCommands: (next) => {
      commands.current = next
    },
  }))
  const close = useCallback(() => setShown(false), [])
  useEffect(() => {
    if (isKiosk) return
    const press = (event: KeyboardEvent) => {
      if (event.key.toLowerCase() !== 'k' || !(event.ctrlKey || event.metaKey) || event.altKey || event.shiftKey) return
      event.preventDefault()
      // Before the next key, which would otherwise be a shortcut of the page.
      if (document.querySelector('dialog[open]') === null) flushSync(() => setShown(true))
    }
    addEventListener('keydown', press)
    return () => removeEventListener('keydown', press)
  }, [isKiosk])
  return (
    <PaletteContext value={access}>
      {children}
      {isShown ? (
        <Dialog title={t('palette.title')} onClose={close}>
          <PaletteWhenLoaded commands={commands.current} onClose={close} />
        </Dialog>
      ) : null}
    </PaletteContext>
  )
}

/** Shows the field at once, so that keys typed while the palette loads do not trigger shortcuts of the page. */
function PaletteWhenLoaded(props: { readonly commands: readonly Command[]; onClose(): void }) {
  const [typed, setTyped] = useState('')
  const field = (
    <input
      className="input"
      type="text"
      aria-label={t('palette.title')}
      maxLength={100}
      value={typed}
      {...focused}
      onChange={({ target }) => setTyped(target.value)}
    />
  )
  return (
    <Suspense fallback={field}>
      <Palette {...props} typed={typed} />
    </Suspense>
  )
}
