# glmnet_peer.R FOLDER -- glmnet for claim_lasso.py; jobs: TYPE THRESH [FILE]
#
# FOLDER is what lasso_problem.Problem.write has left; TYPE is naive, covariance (how the square
# loss is updated), binomial, or folds (ten of them). A job is glmnet(), or cv.glmnet(), on the
# matrix as it is; dense columns it
# standardises by itself. It answers with its seconds, twice: of all, and of the path alone, which
# is the same here. With FILE the coefficients (columns x lambdas, by columns) are written there,
# outside the clock. An empty line asks for the version.
suppressPackageStartupMessages({
  library(Matrix)
  library(glmnet)
})
folder <- commandArgs(trailingOnly = TRUE)[1]
bare <- function(name, kind, size) {
  path <- file.path(folder, name)
  readBin(path, kind, n = file.size(path) / size, size = size)
}
facts <- scan(file.path(folder, "facts.txt"), quiet = TRUE)
rows <- facts[1]
columns <- facts[2]
y <- bare("y", "double", 8)
lambda <- bare("lambda", "double", 8)
if (!facts[4]) lambda <- lambda / 2  # glmnet has half of the square
if (facts[3]) {
  x <- new("dgCMatrix", i = bare("row", "integer", 4), p = bare("start", "integer", 4),
           x = bare("value", "double", 8), Dim = as.integer(c(rows, columns)))
} else {
  x <- matrix(bare("x", "double", 8), rows, columns)
}

fit_path <- function(type, thresh) {
  if (type == "binomial") {
    glmnet(x, y, family = "binomial", lambda = lambda, standardize = !facts[3], thresh = thresh,
           maxit = 1e8)
  } else if (type == "folds") {
    cv.glmnet(x, y, lambda = lambda, standardize = !facts[3], thresh = thresh, maxit = 1e8,
              nfolds = 10, type.gaussian = "covariance")
  } else {
    glmnet(x, y, lambda = lambda, standardize = !facts[3], thresh = thresh, maxit = 1e8,
           type.gaussian = type)
  }
}

jobs <- file("stdin", "r")
while (length(line <- readLines(jobs, n = 1)) > 0) {
  words <- strsplit(line, " ")[[1]]
  if (length(words) == 0) {
    cat(sprintf("{\"glmnet\": \"%s\"}\n", packageVersion("glmnet")))
    next
  }
  gc(verbose = FALSE)
  start <- proc.time()[["elapsed"]]
  fit <- fit_path(words[1], as.numeric(words[2]))
  seconds <- proc.time()[["elapsed"]] - start
  if (length(words) > 2) {
    out <- file(words[3], "wb")
    for (k in seq_along(lambda)) {
      beta <- if (k <= ncol(fit$beta)) fit$beta[, k] else rep(NaN, columns)
      writeBin(as.vector(beta), out)
    }
    close(out)
  }
  cat(sprintf("%.9f %.9f\n", seconds, seconds))
}
