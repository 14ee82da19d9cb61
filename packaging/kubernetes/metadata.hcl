# For the catalog of extension images of CloudNativePG, which builds an image from a Debian package. Until PostgreSQL's
# package archive has the package, the target "extension" of our Dockerfile makes the same image.
metadata = {
  name                     = "snowflake-ids"
  sql_name                 = "snowflake_ids"
  image_name               = "snowflake-ids"
  licenses                 = ["PostgreSQL"]
  shared_preload_libraries = []
  postgresql_parameters    = {}
  extension_control_path   = []
  dynamic_library_path     = []
  ld_library_path          = []
  bin_path                 = []
  env                      = {}
  auto_update_os_libs      = false
  required_extensions      = []
  create_extension         = true

  versions = {
    bookworm = {
      "18" = {
        package = "1.0.0-1.pgdg12+1"
        sql     = "1.0"
      }
    }
    trixie = {
      "18" = {
        package = "1.0.0-1.pgdg13+1"
        sql     = "1.0"
      }
    }
  }
}
