/** The message is one line: the file or flag, the key, and the expected value. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError'
}
